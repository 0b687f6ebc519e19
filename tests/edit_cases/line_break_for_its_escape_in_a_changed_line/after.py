def greet(file):
    file.write('good evening\n')
    file.flush()
