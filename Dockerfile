# The README's two commands: the build of the image runs ./setup.sh, a container runs `node dist/run.js all`.
#
#   docker build -t critic-traces .
#   docker run --rm -v critic-traces:/work critic-traces                                        the replica
#   docker run --rm -v "$PWD:/work" -u "$(id -u):$(id -g)" critic-traces all --study my-study   a study of one's own
#
# Outputs go into /work/artifacts.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
# node-canvas has a binary for most machines. Where it has none, setup.sh installs what compiles it.
RUN SKIP_NATIVE_CHECK=1 ./setup.sh || ./setup.sh
RUN npm prune --omit=dev --no-audit --no-fund && rm -rf dist/test dist/tools dist/maps dist/.[!.]* && find dist -name "*.map" -delete

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The downloaded binary brings its libraries, a compiled one needs Debian's.
RUN node -e "require('canvas')" || { \
      apt-get update \
      && apt-get install -y --no-install-recommends libcairo2 libgif7 libjpeg62-turbo libpango-1.0-0 libpangocairo-1.0-0 librsvg2-2 \
      && rm -rf /var/lib/apt/lists/* \
      && node -e "require('canvas')"; }
WORKDIR /work
RUN mkdir -p /cache && chown node:node /work /cache && chmod 777 /cache
USER node
ENV CRITIC_TRACES_CACHE=/cache
ENTRYPOINT ["node", "/app/dist/run.js"]
CMD ["all"]
