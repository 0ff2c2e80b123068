import type { Command } from 'commander';
import { counted } from '../../../schemas/text/counted.js';
import {
  type ErasureSubject,
  eraseSubject,
  findSpellings,
  openErasureJournal,
  readRemains,
  type SpellingMatch,
  scrubErased,
  statementOf,
} from '../../erasure/index.js';
import { parseIdentifier } from '../../evidence/verification/stored-record.js';
import { CommandError, EXIT, jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface Options {
  readonly json?: boolean;
  readonly site: string;
  readonly visitor?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly idNumber?: string;
  readonly record?: string;
  readonly scrub?: boolean;
  readonly dryRun?: boolean;
}

/** `admin erase`: erases the records of a person, or one record. */
export function eraseCommand(context: CliContext): Command {
  return jsonCommand('erase', 'erase the personal data of a person or of one record permanently')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .option('--visitor <visitor_id>', 'the person with this visitor_id')
    .option('--email <address>', 'the signer with this e-mail address')
    .option('--phone <number>', 'the signer with this phone number')
    .option('--id-number <number>', 'the signer with this identity number')
    .option('--record <id>', 'one record, by its id or consent token')
    .option('--scrub', 'then remove the deleted bytes from the database files, as admin scrub does')
    .option(
      '--dry-run',
      'only count the records of the person, and those of similar spellings of the identifier; erase nothing',
    )
    .action(async (options: Options) => {
      const by = subjectOf(options);
      if (options.dryRun === true) return listSpellings(context, options, by);
      await withInstallation(context, async ({ workerPool, keyring, config, databaseUrl }) => {
        const journal = openErasureJournal(config.erasureJournal);
        const receipt = await eraseSubject(
          { db: workerPool, keyring, journal },
          { siteId: options.site, by, asker: 'operator' },
        );
        if (options.scrub === true) await scrubErased(databaseUrl);
        const remains = await readRemains(workerPool, receipt, config.backupRetentionDays ?? null);
        const result = {
          request_id: receipt.id,
          site_id: receipt.siteId,
          reason: receipt.reason,
          finished_at: receipt.finishedAt.toISOString(),
          erased_records: receipt.erasedRecords,
          deleted_approval_tokens: receipt.deletedApprovalTokens,
          cancelled_exports: receipt.cancelledExports,
          destroyed_packages: receipt.destroyedPackages,
          event_ids: receipt.eventIds,
          scrubbed: options.scrub === true,
          backups_until: remains.backupsUntil?.toISOString() ?? null,
          statement: statementOf(receipt, remains),
        };
        print(context, options, result, [
          receipt.erasedRecords === 0
            ? 'No record was found to erase.'
            : `Erased: ${counted(receipt.erasedRecords, 'record')}. The keys of the personal values are destroyed, and the values cannot be read again.`,
          `Approval tokens deleted: ${receipt.deletedApprovalTokens}; evidence exports cancelled: ${receipt.cancelledExports}; evidence packages destroyed: ${receipt.destroyedPackages}.`,
          ...result.statement,
          `Receipt: ${receipt.id}`,
        ]);
      });
    });
}

/** Lists what an erasure would find, under the given spelling and similar ones. */
async function listSpellings(context: CliContext, options: Options, by: ErasureSubject): Promise<void> {
  if (by.kind === 'record' || by.kind === 'retention') {
    throw new CommandError('--dry-run needs an identifier of a person, not --record.', EXIT.usage);
  }
  await withInstallation(context, async ({ workerPool, keyring }) => {
    const matches = await findSpellings(workerPool, keyring, options.site, by);
    const spellings = matches.map(({ spelling, isExact, records, hasMore }) => ({
      spelling,
      is_exact: isExact,
      records,
      has_more: hasMore,
    }));
    print(context, options, { erased_records: 0, spellings }, [
      ...matches.map(spellingLine),
      'Nothing was erased. An erasure erases the records of one spelling: repeat it for each that is the same person.',
    ]);
  });
}

function spellingLine({ spelling, isExact, records, hasMore }: SpellingMatch): string {
  const count = hasMore ? `${counted(records, 'record')} or more` : counted(records, 'record');
  return `${isExact ? 'Given' : 'Similar'}: ${JSON.stringify(spelling)}: ${count}`;
}

/** `admin scrub`: removes erased data from the database's files. */
export function scrubCommand(context: CliContext): Command {
  return jsonCommand('scrub', 'remove erased data from the database files; locks the tables of keys meanwhile').action(
    async (options: { readonly json?: boolean }) => {
      await withInstallation(context, async ({ databaseUrl }) => {
        await scrubErased(databaseUrl);
        print(context, options, { scrubbed: true }, [
          'The database files no longer contain the data that was erased until now.',
        ]);
      });
    },
  );
}

function subjectOf({ visitor, email, phone, idNumber, record }: Options): ErasureSubject {
  const persons = [
    { kind: 'visitor', value: visitor },
    { kind: 'email', value: email },
    { kind: 'phone', value: phone },
    { kind: 'id_number', value: idNumber },
  ] as const;
  const subjects: ErasureSubject[] = persons.flatMap(({ kind, value }) =>
    value === undefined ? [] : [{ kind, value }],
  );
  if (record !== undefined) {
    const identifier = parseIdentifier(record);
    if (identifier === null || !('eventId' in identifier)) {
      throw new CommandError('--record must be the id of a record or its consent token.', EXIT.usage);
    }
    subjects.push({ kind: 'record', eventId: identifier.eventId });
  }
  const [subject] = subjects;
  if (subject === undefined || subjects.length > 1) {
    throw new CommandError('Give exactly one of --visitor, --email, --phone, --id-number, --record.', EXIT.usage);
  }
  return subject;
}
