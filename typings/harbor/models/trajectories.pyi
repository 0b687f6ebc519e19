from typing import Self

class Trajectory:
    @classmethod
    def model_validate(cls, obj: object) -> Self: ...
