import type { FixtureAuthority } from '../../support/ledger-fixture.js';
import type { Attack } from './attack.js';
import { containerAttacks } from './container-attacks.js';
import { dataAttacks } from './data-attacks.js';
import { differenceAttacks } from './difference-attacks.js';
import { historyAttacks } from './history-attacks.js';
import { inForceAttacks } from './in-force-attacks.js';
import { ledgerAttacks } from './ledger-attacks.js';
import { timeAttacks } from './time-attacks.js';
import { treeAttacks } from './tree-attacks.js';

/** Every attack, by what it is made on. */
export function attackTable(authority: FixtureAuthority): Readonly<Record<string, readonly Attack[]>> {
  return {
    'trees and batches': treeAttacks(),
    'checkpoints and keys': ledgerAttacks(),
    'time stamps and times': timeAttacks(authority),
    'container and manifest': containerAttacks(),
    'entries and records': dataAttacks(),
    'notices in force': inForceAttacks(),
    'documents, erasures and completeness': historyAttacks(),
    'where verifiers differed': differenceAttacks(authority),
  };
}
