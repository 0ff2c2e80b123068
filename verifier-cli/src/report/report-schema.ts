import * as z from 'zod';
import { SCAN_CHOICES, SCAN_METHODS, SCAN_PROBLEMS } from '../../../schemas/events/site-scanned.js';
import { ExportStatement } from '../../../schemas/evidence/manifest.js';
import { PERSON_COVERAGES } from '../completeness/persons.js';
import { CHECK_IDS } from '../findings/checks.js';
import { findingCodes } from '../findings/finding-texts.js';
import { MAX_PROBLEMS } from '../findings/findings.js';
import { PROMISE_OUTCOMES } from '../promises/promised-records.js';
import { MAX_LISTED, MAX_SCAN_NAMES, MAX_SCANS, MAX_TEXTS } from './report.js';

const Count = z.int().min(0);
const VerdictName = z.enum(['valid', 'indeterminate', 'invalid']);
const OutcomeName = z.enum(['pass', 'fail', 'indeterminate', 'not-applicable']);
const Time = z.strictObject({
  time: z.string().describe('RFC 3339 in UTC, with milliseconds'),
  accuracy_ms: Count.describe('accuracy that the authority states: plus or minus so many milliseconds'),
  checkpoint: Count.describe('size of the stamped checkpoint'),
});
const place = {
  file: z.string().optional(),
  line: z.int().min(1).optional(),
  stream: z.string().optional(),
  revision: Count.optional(),
  event_id: z.string().optional(),
};

const Code = z.enum(findingCodes()).meta({ id: 'FindingCode' });

/** The code of a finding with its values, which can be findings themselves. */
const Coded = z.strictObject({
  code: Code.optional(),
  get values() {
    return z.record(z.string(), z.union([z.string(), z.number(), Coded])).optional();
  },
});

const stated = {
  message: z.string().describe('the message in English'),
  code: Code.optional().describe('code of the message, for translations; absent if the message is empty'),
  values: Coded.shape.values.describe('values that the text contains; absent if there are none'),
};

const End = z.strictObject({
  date: z.string(),
  reason: stated.message,
  code: Code.optional().describe('code of the reason, for translations'),
  values: stated.values,
});

const Check = z.strictObject({
  id: z.enum(CHECK_IDS),
  outcome: OutcomeName,
  ...stated,
  meaning: z.string(),
  required: z
    .boolean()
    .describe('whether the verdict `valid` requires this check to pass; any failure makes the verdict `invalid`'),
  counts: z.strictObject({ pass: Count, fail: Count, indeterminate: Count, 'not-applicable': Count }),
  problems: z
    .array(
      z.strictObject({
        outcome: OutcomeName,
        ...stated,
        ...place,
        because: z.enum(CHECK_IDS).optional().describe('check whose finding causes this one'),
      }),
    )
    .max(2 * MAX_PROBLEMS),
  because: z
    .array(z.enum(CHECK_IDS))
    .describe('checks that explain every finding of this one; empty if a finding has no other cause'),
  affects: z.array(z.enum(CHECK_IDS)).describe('checks that fail or stay open because of this one'),
});

const Newest = z
  .strictObject({
    checkpoint: Count.nullable().describe('size of the checkpoint; null if the package includes none'),
    authorities: Count.describe('number of distinct authorities with a valid time stamp over it'),
    authorities_demanded: Count.describe('number of authorities that the policies demand'),
    witnesses: Count.describe('number of given witnesses with a valid cosignature over it'),
    witnesses_demanded: Count.describe('number of witnesses that the policy demands'),
  })
  .describe('who has stamped and cosigned the newest checkpoint');

const Text = z.strictObject({
  document_version_id: z.string(),
  sha256: z.string(),
  language: z.string(),
  title: z.string().nullable(),
  number: z.int().nullable(),
  media_type: z.string().nullable(),
  published_at: z.string().nullable(),
  outcome: OutcomeName,
  source: z.string().nullable().describe('the text; null if it is missing, changed, too long or not UTF-8'),
});

const Stamp = z.strictObject({
  checkpoint: Count,
  file: z.string(),
  outcome: z.enum(['pass', 'fail', 'indeterminate']),
  time: z.string().nullable().describe('time that the token states; proved only if the outcome is `pass`'),
  authority: z.string().nullable().describe('subject of the signer certificate'),
  organization: z
    .string()
    .nullable()
    .describe('organization of the trust anchor: stamps with equal ones are of one authority'),
  revocation: z.enum(['conclusive', 'provisional', 'indeterminate', 'revoked', 'not-applicable', 'ignored']),
  sound_until: End.nullable(),
  renewed_by: z
    .strictObject({ checkpoint: Count, time: z.string() })
    .nullable()
    .describe('newer time stamp at whose time this one was evaluated; null if there is none'),
});

const Names = z.strictObject({ count: Count, first: z.array(z.string()).max(MAX_SCAN_NAMES) });

const Scan = z.strictObject({
  event_id: z.string(),
  verdict: VerdictName,
  recorded_at: z.string().describe('time that the service claims'),
  existed_by: Time.nullable().describe('time by which the record existed; null if it is not proved'),
  url: z.string(),
  method: z.enum(SCAN_METHODS).describe('`browser`: scripts ran; `http`: only the page was requested'),
  signal: z.boolean().describe('whether the page was opened with Global Privacy Control'),
  choices: z.array(z.enum(SCAN_CHOICES)).describe('choices that the visits to the page began with'),
  configuration: z
    .strictObject({
      sha256: z.string(),
      number: z.int().nullable().describe('null if the package does not include it'),
    })
    .nullable()
    .describe('configuration that the page was compared with; null if none was published'),
  problems: z.array(Names.extend({ problem: z.enum(SCAN_PROBLEMS) })).describe('names of what was found, by problem'),
  third_party_hosts: Names,
  is_whole: z.boolean().describe('false if a visit was cut short, or if the record leaves something out'),
});

const Filter = z.strictObject({
  from: z.string().nullable(),
  to: z.string().nullable(),
  consent_type: z.string().nullable(),
  document_version_id: z.string().nullable(),
  event_ids: Count.nullable().describe('number of records selected by event id'),
  person_records: Count.nullable().describe(
    'number of records that the ledger has of the person, as the manifest states it',
  ),
  persons: Count.describe('number of persons in the request'),
  disclose: z.union([z.literal('all'), z.literal('none'), z.array(z.string())]),
});

const Coverage = z.strictObject({
  stream: z.string(),
  complete: z.array(z.strictObject({ first: Count, last: Count })).max(MAX_LISTED),
  complete_runs: Count.describe('number of complete runs, also those that are not listed'),
  complete_up_to: Count.nullable().describe('no revision from 0 to this one is missing; null if that is not proved'),
  ledger_reaches: Count.nullable().describe('highest revision in the included batches'),
  is_whole: z
    .boolean()
    .describe(
      'whether the whole stream was requested, and is complete from revision 0 to its last one in the included batches',
    ),
});

/**
 * The object that `consent-verify check --json` prints. Every text in it may come from the package:
 * it is data, never markup. The build writes `dist/report.schema.json` from it.
 */
export const ReportSchema = z
  .strictObject({
    format: z.literal('consent-verify-report'),
    version: z.literal(1),
    verifier: z
      .strictObject({ name: z.literal('consent-verify'), version: z.string() })
      .describe('program that made the report'),
    trust: z
      .strictObject({
        ledger_keys: z.array(z.string()).describe('verifier keys of the ledger'),
        roots: z.array(z.strictObject({ subject: z.string(), sha256: z.string() })),
      })
      .describe('keys and root certificates that were given to the verifier, on which the verdict depends'),
    verdict: VerdictName,
    as_of: Time.nullable().describe(
      'valid time stamp over the checkpoint of the package: later events are unknown; null if there is none',
    ),
    checks: z.array(Check).min(CHECK_IDS.length).max(CHECK_IDS.length).describe('all checks, always in the same order'),
    package: z.strictObject({
      origin: z.string().nullable(),
      site_id: z.string().nullable(),
      exported_at: z.string().nullable(),
      exported_by: z.string().nullable(),
      export: ExportStatement.nullable().describe('what the package states of its making; null if nothing'),
      development: z
        .boolean()
        .nullable()
        .describe('true if a development authority stamped the ledger: the package is then not evidence'),
      checkpoint: Count.nullable(),
      not_yet_stamped: Count.nullable(),
      site: z
        .strictObject({ domain: z.string(), controller: z.string(), contact: z.string() })
        .nullable()
        .describe(
          'site and controller as the configuration names them that the newest consent refers to; null if no such configuration is proved',
        ),
      filter: Filter.nullable().describe('the request that the manifest states'),
      person: z
        .string()
        .nullable()
        .describe(
          'value of visitor_id in the records of a package for a person, or of a receipt; null if none discloses it',
        ),
      asked_person: z.string().nullable().describe('value of --person; null if it was not given'),
    }),
    coverage: z
      .strictObject({
        consents: Coverage,
        notices: Coverage,
        person: z
          .enum(PERSON_COVERAGES)
          .describe('complete: the package contains every record that the ledger has of the person'),
      })
      .nullable(),
    policy: z
      .strictObject({
        number: z.int().min(1).nullable().describe('null if the package includes no policy, and the defaults apply'),
        seal_within_seconds: Count,
        stamp_within_seconds: Count,
      })
      .describe('policy of the ledger for the newest batch of the package'),
    operator: z
      .strictObject({
        legal_name: z.string().nullable().describe('null if nothing is stated'),
        qualified_stamps: z
          .array(z.strictObject({ organization: z.string(), trusted_list: z.string() }))
          .describe('those of the stated authorities that made a valid stamp of the package'),
      })
      .nullable()
      .describe('what this policy states of the operator, which nothing checks; null if the package is invalid'),
    newest: Newest,
    records: z.strictObject({
      entries: Count,
      consents: Count,
      unknown: Count.describe('entries and events of a version that this verifier does not know'),
      imported: Count.describe('consents that a former tool recorded, as it states'),
      verdicts: z.strictObject({ valid: Count, indeterminate: Count, invalid: Count }),
      erased: Count,
      key_lost: Count.describe('consents whose key the service lost, as it states'),
      withheld_values: Count,
      disclosed_values: Count,
      claimed: z.strictObject({ first: z.string(), last: z.string() }).nullable(),
      decisions: z.record(z.string(), Count),
    }),
    proved: z.strictObject({
      not_before: Time.nullable(),
      earliest: Time.nullable(),
      not_after: Time.nullable().describe('all records of the package existed by this time'),
      required_stamps: Count.describe('number of distinct authorities that must have stamped every batch'),
      batches: Count,
      batches_without_stamp: Count.describe('batches that valid time stamps of fewer authorities cover'),
      intervals: z
        .array(z.strictObject({ batch: Count, after: Time.nullable(), before: Time.nullable() }))
        .max(MAX_LISTED),
    }),
    stamps: z.strictObject({ count: Count, first: z.array(Stamp).max(MAX_LISTED) }),
    witnesses: z
      .strictObject({
        checkpoint: Count.nullable().describe('size of the newest checkpoint'),
        required: Count.nullable().describe('number of given witnesses that must have cosigned it; null: any number'),
        cosigned: z
          .array(z.strictObject({ name: z.string(), time: z.string().describe('time that the witness states') }))
          .describe('given witnesses whose cosignature is valid'),
        missing: z.array(z.string()).describe('names of the given witnesses without a valid cosignature'),
        others: Count.describe('number of cosignatures by keys that were not given'),
      })
      .describe('cosignatures of the newest checkpoint'),
    promises: z
      .array(
        z.strictObject({
          file: z.string(),
          outcome: z
            .enum(PROMISE_OUTCOMES)
            .describe('`late`: sealed after the promised time; `not-covered`: the package cannot show it'),
          ...stated,
          event_id: z.string().nullable().describe('null if the promise is not verified'),
          record_sha256: z.string().nullable(),
          sealed_before: z.string().nullable(),
          due: z
            .string()
            .nullable()
            .describe('the promised time, or the one by the policy of created_at if that is earlier'),
          contradicted: z
            .boolean()
            .describe(
              'whether the ledger holds another record under the event id, which promise and entry prove by themselves',
            ),
        }),
      )
      .describe('promises given to the verifier, in the order given'),
    sound_until: End.nullable(),
    warnings: z.strictObject({
      count: Count,
      first: z.array(z.strictObject({ ...stated, ...place })).max(MAX_PROBLEMS),
    }),
    texts: z.strictObject({ count: Count, first: z.array(Text).max(MAX_TEXTS) }),
    scans: z
      .strictObject({
        count: Count,
        verdicts: z.strictObject({ valid: Count, indeterminate: Count, invalid: Count }),
        newest: z.array(Scan).max(MAX_SCANS),
      })
      .describe('recorded scans of pages of the site: statements of the service'),
    proves: z.array(z.string()),
    not_proved: z.array(z.string()),
    work: z
      .strictObject({ done: Count, limit: Count.describe('depends on the size of the package alone') })
      .describe('units of work that the verification took'),
    verified_at: z.string(),
  })
  .meta({ title: 'Report of consent-verify check' });

/** The JSON Schema (2020-12) of a report. */
export function reportJsonSchema(): unknown {
  return z.toJSONSchema(ReportSchema, { target: 'draft-2020-12' });
}
