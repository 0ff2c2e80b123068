/**
 * Mends of faults that were found in the service, as the lines that take them out. `npm run simulate --
 * --without NAME` builds the simulation with these lines: a history must then break a rule.
 * @type {Readonly<Record<string, readonly { readonly file: string, readonly line: string, readonly without: string }[]>>}
 */
export const MENDS = {
  // No derived row decides what enters the ledger.
  'ledger-by-its-stream': [
    {
      file: 'src/pipeline/ledger/apply-ledger.ts',
      line: 'return { ...state, logPosition: stored.logPosition };',
      without: 'return { ...state, ...(await readLedgerState(db)) };',
    },
    {
      file: 'src/pipeline/ledger/apply-ledger.ts',
      line: "import { skipOf } from './read-ledger.js';",
      without: "import { skipOf } from './read-ledger.js';\nimport { readLedgerState } from './ledger-state.js';",
    },
    {
      file: 'src/pipeline/ledger/append-to-ledger.ts',
      line: 'await assertFollow(state, events);',
      without: '',
    },
  ],
  // A wrong position in the log leaves no event unsealed.
  'passed-over-events': [
    {
      file: 'src/pipeline/sealer/sealer.ts',
      line: "return (await this.#hasPassedOver(pending)) ? 'gap' : 'at-end';",
      without: "return 'at-end';",
    },
  ],
  // A ledger that does not continue its head is neither appended to nor signed.
  'ledger-head': [
    {
      file: 'src/pipeline/ledger/ledger-guard.ts',
      line: 'if (head === null || (await continues(db, state, head))) continue;',
      without: 'continue;',
    },
  ],
  // A process uses one server only.
  'one-server': [
    {
      file: 'src/platform/database/server-binding.ts',
      line: 'if (bound === null || (bound === found.server && found.goes_on === true)) {',
      without: 'if (found !== null) {',
    },
    { file: 'src/platform/database/server-binding.ts', line: 'if (stated === bound) return;', without: 'return;' },
  ],
  // Connections to a server that was left end.
  'left-server': [
    {
      file: 'src/platform/database/pool.ts',
      line: 'if (options.server !== undefined) endWhenLost(pool, options.server);',
      without: '',
    },
    { file: 'src/app/installation.ts', line: 'if (signal.aborted) return;', without: 'if (everyMs > 0) return;' },
  ],
  // The relay looks whether the log has all that was appended.
  'whole-log': [
    {
      file: 'src/pipeline/relay/log-check.ts',
      line: 'if (damage === null) continue;',
      without: 'if (damage !== undefined) continue;',
    },
  ],
  // Nothing that another program wrote is sealed, and it stops its site only.
  'genuine-events': [
    { file: 'src/pipeline/sealer/sealer.ts', line: 'else await this.#checkGenuine(event);', without: '' },
  ],
  // The log has all that evidence needs, and not only the database.
  'evidence-in-the-log': [
    {
      file: 'src/pipeline/stamper/stamp-checkpoint.ts',
      line: 'if (ledger === current) await tryAppendToLedger(eventLog, current, ...rest, event);',
      without:
        'for (const one of rest) await insertEvidence(db, parseBody(EvidenceKeptBody, one.type, one.data));\n' +
        'if (ledger === current) await tryAppendToLedger(eventLog, current, event);',
    },
    {
      file: 'src/pipeline/stamper/stamp-checkpoint.ts',
      line: "import { LedgerKeyMismatch } from '../ledger/errors.js';",
      without:
        "import { LedgerKeyMismatch } from '../ledger/errors.js';\nimport { insertEvidence } from '../ledger/apply-evidence.js';\n" +
        "import { EvidenceKeptBody } from '../../../schemas/events/ledger.js';\n" +
        "import { parseBody } from '../../../schemas/events/sealed-event.js';",
    },
  ],
  // The keys that a restored database lost are counted.
  'lost-keys': [
    {
      file: 'src/pipeline/relay/recover-log.ts',
      line: 'for (const id of await recordsWithoutKey(this.db, consents)) if (!this.journaled.has(id)) lost.add(id);',
      without: '',
    },
  ],
  // A holder of a lock that falls silent loses it.
  'silent-holders': [
    {
      file: 'src/platform/background/part.ts',
      line: 'await client.query(`set idle_session_timeout = $' + '{SILENCE_MS}`);',
      without: '',
    },
  ],
};
