# The service, without the embedded PostgreSQL: in a container, DATABASE_URL names a server.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY verifier-cli/package.json verifier-cli/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts \
  # Argon2's native code is an optional dependency of its package, and needed.
  && npm install --no-save --omit=dev --ignore-scripts @node-rs/argon2@"$(node -p "require('./package.json').dependencies['@node-rs/argon2']")"

FROM node:22-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/bin bin
COPY --from=build /app/verifier-cli verifier-cli
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["node", "bin/consent-ledger.js"]
CMD ["serve"]
