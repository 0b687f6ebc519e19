struct queue {
  int first;
  int last;
  char* name;
  int count;
};
