def first(self):
    if not data:
        self.close(command)
        if command.runs:
            self.end(command)


def second(self):
    try:
        self.send(b'')
    except OSError:
        self.hang_up(command)


def hang_up(self):
    self.close(command)
    if command.runs:
        self.end(command)
