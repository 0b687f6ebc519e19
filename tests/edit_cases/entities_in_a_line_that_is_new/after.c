int start(void) {
    say("begun");
    return run(&module);
}
