// first comment line
// second comment line
int x = 1;
