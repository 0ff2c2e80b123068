import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  ADD_CHECKPOINT,
  formatTreeSize,
  MAX_ADD_CHECKPOINT_BYTES,
  parseAddCheckpoint,
  TLOG_SIZE,
} from '../../../../schemas/evidence/add-checkpoint.js';
import { parseCheckpoint } from '../../../../schemas/evidence/checkpoint.js';
import { parseNote, type VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { decide, type Submission } from './decide.js';
import type { WitnessState } from './state.js';
import type { StructureAudit } from './structure-audit.js';
import type { WitnessSigner } from './witness-key.js';

export interface WitnessOptions {
  readonly signer: Pick<WitnessSigner, 'cosign'>;
  readonly state: Pick<WitnessState, 'read' | 'write'>;
  /** Keys of the ledgers that the witness cosigns. */
  readonly ledgerKeys: readonly VerifierKey[];
  readonly log: (line: string) => void;
  readonly now?: () => Date;
  /**
   * Audits the structure up to a checkpoint before the checkpoint is cosigned. Absent if the witness does not audit.
   */
  readonly audit?: StructureAudit;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

const PLAIN = 'text/plain; charset=utf-8';
const MAX_CONNECTIONS = 256;
/** Maximum number of requests for one origin that may wait for the request in progress. */
const MAX_WAITING = 32;

/**
 * Creates the HTTP server of a witness (c2sp.org/tlog-witness, `add-checkpoint` only). It stores
 * what it cosigns before it answers. Requests of one origin are processed one after the other.
 */
export function createWitness(options: WitnessOptions): Server {
  const queue = new OriginQueue();
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    answerTo(request, options, queue).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        options.log(`500 ${error instanceof Error ? error.message : 'unknown error'}`);
        send(response, refusal(500, 'the witness cannot use its state'));
      },
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answerTo(request: IncomingMessage, options: WitnessOptions, queue: OriginQueue): Promise<Answer> {
  if (request.url !== `/${ADD_CHECKPOINT}`) return refusal(404, `this witness serves only /${ADD_CHECKPOINT}`);
  if (request.method !== 'POST') return refusal(405, 'use POST');
  const body = await readBody(request);
  if (body === null) return refusal(413, `the body is larger than ${MAX_ADD_CHECKPOINT_BYTES} bytes`);
  const submission = parseSubmission(body);
  if (submission === null) return refusal(400, 'the body is not an add-checkpoint request with a checkpoint');
  const { origin } = submission.checkpoint;
  const keys = options.ledgerKeys.filter(({ name }) => name === origin);
  if (keys.length === 0) return refusal(404, 'this witness does not know the origin');
  const work = queue.add(origin, () => evaluate(submission, keys, options));
  return work ?? refusal(503, 'too many requests for this origin');
}

async function evaluate(
  submission: Submission,
  keys: readonly VerifierKey[],
  { signer, state, log, now = () => new Date(), audit }: WitnessOptions,
): Promise<Answer> {
  const { origin, size } = submission.checkpoint;
  const known = await state.read(origin);
  const first = await decide(submission, keys, known);
  // An auditing witness learns the next keys of the ledger from the published structure.
  const isStrange = first.status === 403 && audit !== undefined;
  const decision = isStrange ? await decide(submission, await audit.keysAfter(keys), known) : first;
  const answer = (status: number, reason: string) => {
    log(`${status} ${origin} size ${size}: ${reason}`);
    return refusal(status, reason);
  };
  if (decision.status === 409) return { status: 409, body: formatTreeSize(decision.size), type: TLOG_SIZE };
  if (decision.status !== 200) return answer(decision.status, decision.reason);
  const audited = audit === undefined ? null : await audit.check(submission);
  if (audited !== null) return answer(audited.status, audited.reason);
  // Stored first, so that after a crash the ledger cannot obtain a cosignature over another history of this size.
  await state.write(decision.state);
  log(`200 ${origin} size ${size}: cosigned`);
  return { status: 200, body: signer.cosign(submission.signed.text, now()) };
}

function parseSubmission(body: Uint8Array): Submission | null {
  const request = parseAddCheckpoint(body);
  const signed = request === null ? null : parseNote(request.note);
  const checkpoint = signed === null ? null : parseCheckpoint(signed.text);
  return request === null || signed === null || checkpoint === null ? null : { ...request, signed, checkpoint };
}

/** @returns null if the body is too large */
async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a request body is made of bytes');
    size += chunk.length;
    if (size > MAX_ADD_CHECKPOINT_BYTES) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function refusal(status: number, reason: string): Answer {
  return { status, body: `${reason}\n` };
}

function send(response: ServerResponse, { status, body, type = PLAIN }: Answer): void {
  if (response.destroyed) return;
  // The rest of an oversized body is not read.
  if (status === 413) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Runs the work of each origin sequentially, so that no two requests see the same state. */
class OriginQueue {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, number>();

  /** @returns null if too much work of this origin waits */
  add<T>(origin: string, work: () => Promise<T>): Promise<T> | null {
    const waiting = this.#waiting.get(origin) ?? 0;
    if (waiting >= MAX_WAITING) return null;
    this.#waiting.set(origin, waiting + 1);
    const before = this.#last.get(origin) ?? Promise.resolve();
    const result = before.then(work, work).finally(() => {
      this.#waiting.set(origin, (this.#waiting.get(origin) ?? 1) - 1);
    });
    this.#last.set(
      origin,
      result.catch(() => undefined),
    );
    return result;
  }
}
