#!/bin/sh
# Moves log files that are not empty, and lists them.
source=$1
target=$2

mkdir -p $target
for name in `ls $source/*.log | sort`; do
    if [ -s $name ]; then
        mv $name $target/
        echo `basename $name` >> $target/index.txt
    fi
done
exit 0
