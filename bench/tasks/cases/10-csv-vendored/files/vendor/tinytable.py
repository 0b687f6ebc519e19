# tinytable 0.3, copied from upstream. Do not edit: scripts/update-vendor overwrites this file.


class Table:
    def __init__(self, head):
        self.rows = [list(head)]

    def add(self, row):
        # Cells are separated by tabs, so they must not contain any, nor line breaks.
        for cell in row:
            if "\t" in cell or "\n" in cell:
                raise ValueError("cell with a tab or a line break: " + repr(cell))
        self.rows.append(list(row))

    def render(self):
        return "\n".join("\t".join(row) for row in self.rows)
