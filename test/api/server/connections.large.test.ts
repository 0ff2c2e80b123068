import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Connections } from '../../../src/api/server/connections.js';

const CLIENTS = 600;
const WOKEN_IN_A_TURN = 512;
const ROUNDS = 3;

/** Each client asks once, and all ask again once all were answered. */
const ASK = `
  const { connect } = require('node:net');
  const [port, clients, rounds] = process.argv.slice(1).map(Number);
  let answers = 0;
  const ask = (socket) => socket.write('GET / HTTP/1.1\\r\\nHost: a.example\\r\\n\\r\\n');
  const sockets = Array.from({ length: clients }, () => {
    const socket = connect(port, '127.0.0.1', () => ask(socket));
    socket.on('data', () => {
      answers += 1;
      if (answers === rounds * clients) process.exit();
      if (answers % clients === 0) for (const each of sockets) ask(each);
    });
    return socket;
  });
`;

test('clients that repeat at once what was refused are heard some hundreds in a turn of the event loop', async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    connections.deferReading(request);
    response.end('refused');
  });
  const connections = new Connections(server);
  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: CLIENTS }), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const args = [address.port, CLIENTS, ROUNDS].map(String);
  const client = spawn(process.execPath, ['-e', ASK, ...args], { stdio: 'inherit' });
  const ended = once(client, 'exit');

  const inTurnsOfLastRound: number[] = [];
  let before = 0;
  let rounds = 0;
  const countTurn = (): void => {
    if (rounds === ROUNDS - 1) inTurnsOfLastRound.push(requests - before);
    before = requests;
    if (requests === (rounds + 1) * CLIENTS) {
      rounds += 1;
      // All answers are sent, so that all clients have asked again when the loop turns.
      if (rounds < ROUNDS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
    if (rounds < ROUNDS) setImmediate(countTurn);
  };
  countTurn();
  const [exitCode] = await ended;
  expect({ exitCode, requests }).toEqual({ exitCode: 0, requests: ROUNDS * CLIENTS });
  expect(Math.max(...inTurnsOfLastRound)).toBeLessThanOrEqual(WOKEN_IN_A_TURN);
  server.close();
});
