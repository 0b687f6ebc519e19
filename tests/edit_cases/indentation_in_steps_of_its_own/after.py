if True:
    NAMES = {
        'one',
        'two',
    }
print(NAMES)
