// first comment line
// middle comment line
// second comment line
int x = 1;
