class Shape:
    def area(self):
        width = self.width
        return width * self.height

    def name(self):
        return "shape"
