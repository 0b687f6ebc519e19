struct queue {
  union {
    int first;
    int last;
    char* name;
  } at;
  int count;
};
