# A small image of the proxy: built from this checkout, runs on Node without root. See docs/container.md.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npx --yes deno@2.9.6 task npm && npm pack ./npm --pack-destination /tmp
RUN npm install --prefix /opt/modelmesh --omit=dev --ignore-scripts --no-audit --no-fund \
  /tmp/modelmesh-core-*.tgz @redis/client@6.3.1 jose@6.2.17 postgres@3.4.9 ws@8.23.0

FROM node:22-alpine
COPY --from=build /opt/modelmesh /opt/modelmesh
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/modelmesh
ENV NODE_ENV=production MODELMESH_URL=http://127.0.0.1:8080
# the only writable folder; relative paths of the configuration are resolved against it
VOLUME /var/lib/modelmesh
WORKDIR /var/lib/modelmesh
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.MODELMESH_URL + '/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/modelmesh/node_modules/@modelmesh/core/modelmesh.cjs"]
CMD ["proxy", "--host", "0.0.0.0", "--config", "/etc/modelmesh/modelmesh.yaml"]
