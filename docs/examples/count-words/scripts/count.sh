#!/bin/sh
# Prints the number of words in a file.
exec wc -w -- "$1"
