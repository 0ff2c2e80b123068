# The service. Give it DATABASE_URL; the embedded PostgreSQL comes along, but is not meant for containers.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY verifier-cli/package.json verifier-cli/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

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
