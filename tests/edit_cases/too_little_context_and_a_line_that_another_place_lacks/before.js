switch (k) {
  case A:
    log(x);
    break;
  case B:
    log(x);
  default:
    done();
}
