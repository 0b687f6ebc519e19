"""Policy: rules, shell parsing and the decision whether a call may run. Pure functions of values."""
