function sum(list) {
    let total = 0;
    for (const item of list) {
        total += item;
    }
    return total;
}

module.exports = { sum };
