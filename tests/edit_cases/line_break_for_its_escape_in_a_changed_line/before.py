def greet(file):
    file.write('good morning\n')
    file.flush()
