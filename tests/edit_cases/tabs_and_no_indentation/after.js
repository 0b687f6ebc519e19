function parse(parsed) {
    const shebang = detect(parsed);

    log("shebang");
    if (shebang) {
        parsed.args.unshift(parsed.file);
        parsed.command = shebang;
    }
}
