import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, sourceFiles } from './import-graph.js';

const KEYRING = /^src\/platform\/keys\//;

/** Files of the program, without the keyring, that contain a text. */
const filesWith = (text: string): string[] =>
  sourceFiles('src').filter((file) => !KEYRING.test(file) && readFileSync(join(ROOT, file), 'utf8').includes(text));

test('the key of the ledger is read in one place, which asks the guard before each signature', () => {
  expect(filesWith('.ledgerKey()')).toEqual(['src/pipeline/ledger/ledger-signer.ts']);
  // The keys of a rotation go to the same signer.
  expect(filesWith('.nextLedgerKey()')).toEqual(['src/app/rotate-ledger-key.ts']);
});
