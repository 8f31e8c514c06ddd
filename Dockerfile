# mcp-ws-gateway as a container: `docker build -t mcp-ws-gateway .` (BuildKit). How it is run: docs/operations.md.
# NODE_IMAGE may be any Debian image with Node, npm and the user node (1000).
# Behind a proxy with an authority of its own: `--secret id=ca,src=ca.pem`, which is in no layer.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=ca,target=/run/secrets/ca.pem \
    if [ -f /run/secrets/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca.pem; fi; \
    npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.client.json ./
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

# The init. Debian has it; a base that brings it along needs no network here.
FROM ${NODE_IMAGE} AS init
RUN command -v tini-static || { apt-get update && apt-get install -y --no-install-recommends tini; }

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="mcp-ws-gateway" \
      org.opencontainers.image.description="One WebSocket URL in front of any number of MCP servers, behind one JWT" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
# The home of the gateway and of its stdio servers. Nothing is written there but by servers that npx or uvx install.
ENV NODE_ENV=production HOME=/var/cache/mcp-ws-gateway
RUN mkdir -p /etc/mcp-ws-gateway /var/cache/mcp-ws-gateway && chown 1000:1000 /var/cache/mcp-ws-gateway
COPY --from=init /usr/bin/tini-static /usr/bin/tini
WORKDIR /app
COPY LICENSE ./
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
# Liveness, not readiness: a slow upstream makes no container unhealthy. ops.port follows the variable only.
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_GW__OPS__PORT ?? 9464}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/mcp-ws-gateway/gateway.yaml"]
