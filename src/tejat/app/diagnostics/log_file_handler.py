"""The handler of the log file."""

import logging

from tejat.app.diagnostics.log_file import LogFile
from tejat.core.log import is_debugging, logger

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class LogFileHandler(logging.Handler):
    """Writes errors to the log file, and everything in debug mode."""

    def __init__(self, file: LogFile) -> None:
        super().__init__()
        self.baseFilename = file.path
        self._file = file
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.ERROR and record.name.startswith(f"{logger.name}.") and not is_debugging():
            return  # what runs and calls do as expected is for programs that use the library
        self._file.append(self.format(record))
