    if (ferror(stdin)) {
      fprintf(stderr, "Read error\n");
      fflush(stderr);
      return 1;
    }
