from pathlib import Path

class BaseEnvironment:
    async def upload_file(self, source_path: Path | str, target_path: str) -> None: ...
