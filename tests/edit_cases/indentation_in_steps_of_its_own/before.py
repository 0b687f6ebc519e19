NAMES = {
    'one',
    'two',
}
print(NAMES)
