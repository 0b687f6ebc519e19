    if (ferror(stdin)) {
      fprintf(stderr, "Read error\n");
      return 1;
    }
