FROM gemini-cli-sandbox
RUN apt-get update
