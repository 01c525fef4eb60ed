# A small image of `wiremend serve`: see docs/gateway.md.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --release --locked -p wiremend-cli

FROM scratch
COPY --from=build /src/target/release/wiremend /wiremend
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt WIREMEND_LISTEN=0.0.0.0:8484
USER 65534:65534
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s CMD ["/wiremend", "serve", "--probe"]
ENTRYPOINT ["/wiremend", "serve"]
