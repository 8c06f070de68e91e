# docker build -t grammeter . && docker run --rm -v "$PWD:/work" grammeter score -s src.txt -r ref.txt -m gleu --hyps out.txt
FROM python:3.11-slim
ARG EXTRAS=campaign,errant,llm,text
COPY pyproject.toml README.md LICENSE /package/
COPY src /package/src
RUN pip install --no-cache-dir "/package[$EXTRAS]" && rm -rf /package && useradd --create-home grammeter
USER grammeter
WORKDIR /work
EXPOSE 8765
ENTRYPOINT ["grammeter"]
