# mrtq alone, on an empty base: make image
FROM scratch
WORKDIR /work
ENV TMPDIR=/work
COPY mrtq /mrtq
ENTRYPOINT ["/mrtq"]
