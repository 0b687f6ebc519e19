#!/bin/sh
echo '{"decision": "allow"}'
