import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import fastify from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { listen } from '../../src/app/listen.js';
import { titleNeeding } from '../support/missing-tools.js';
import { PATIENCE_MS } from '../support/wait.js';

const CONNECTIONS = 1_000;
const SOMAXCONN = '/proc/sys/net/core/somaxconn';
const isRoomy = existsSync(SOMAXCONN) && Number(readFileSync(SOMAXCONN, 'latin1')) >= CONNECTIONS;

/**
 * Connects, and prints how many connections wait to be accepted: the receive queue of a socket that
 * listens (proc_pid_net(5)).
 */
const VISITORS = `
  const { connect } = require('node:net');
  const { readFileSync } = require('node:fs');
  const [port, connections] = process.argv.slice(1).map(Number);
  const listener = new RegExp(':' + port.toString(16).toUpperCase().padStart(4, '0') + ' 0+:0000 0A [0-9A-F]+:([0-9A-F]+)');
  for (let i = 0; i < connections; i += 1) connect(port, '127.0.0.1').on('error', () => undefined);
  const until = Date.now() + ${PATIENCE_MS};
  const look = () => {
    const [, waiting = '0'] = listener.exec(readFileSync('/proc/net/tcp', 'latin1')) ?? [];
    if (parseInt(waiting, 16) < connections && Date.now() < until) return setTimeout(look, 10);
    console.log(parseInt(waiting, 16));
    process.exit();
  };
  look();
`;

const app = fastify();
afterEach(() => app.close());

test.skipIf(!isRoomy)(
  titleNeeding(`${SOMAXCONN} of ${CONNECTIONS}`, isRoomy, 'a thousand visitors at once wait in line, and none in vain'),
  async () => {
    const http = {
      host: '127.0.0.1',
      port: 0,
      processes: 1,
      scannerHost: undefined,
      trustedProxies: [],
      lameDuckMs: 0,
      drainGraceMs: 0,
    };
    const { port } = new URL(await listen(app, http));
    // Nothing is accepted until it returns.
    const { stdout } = spawnSync(process.execPath, ['-e', VISITORS, port, String(CONNECTIONS)], { encoding: 'utf8' });
    expect(Number(stdout)).toBe(CONNECTIONS);
  },
);
