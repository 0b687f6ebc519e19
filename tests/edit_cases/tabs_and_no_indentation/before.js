function parse(parsed) {
    const shebang = detect(parsed);

    if (shebang) {
        parsed.args.unshift(parsed.file);
        parsed.command = shebang;
    }
}
