int start(void) {
    return run(&module);
}
