import { sha256Hex } from '../../schemas/crypto/digest.js';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../../schemas/json/json-value.js';
import type { PackageHooks } from '../support/package-builder.js';

export type Members = Readonly<Record<string, JsonValue | undefined>>;

function withMembers(record: JsonObject, members: Members): JsonObject {
  const changed: JsonObject = {};
  for (const [name, value] of Object.entries({ ...record, ...members })) if (value !== undefined) changed[name] = value;
  return changed;
}

/**
 * A package whose consents name a configuration that was published by an event of this type, with these members in place
 * of the fixture's; `undefined` leaves a member out.
 */
export function publishedAs(type: string, members: Members): PackageHooks {
  const hashes = { before: '', after: '' };
  let text = '';
  return {
    world: ({ batches }) => {
      const events = batches.flat();
      const config = events.find(({ label }) => label === 'config');
      if (config === undefined) throw new Error('the fixture has no configuration');
      hashes.before = sha256Hex(canonicalJson(config.record));
      config.type = type;
      config.record = withMembers(config.record, members);
      text = canonicalJson(config.record);
      hashes.after = sha256Hex(text);
      for (const event of events) {
        if (event.record.site_config_hash !== hashes.before) continue;
        event.record = { ...event.record, site_config_hash: hashes.after };
      }
    },
    files: (files) => {
      files.delete(PACKAGE_FILES.notice(hashes.before));
      files.set(PACKAGE_FILES.notice(hashes.after), utf8(text));
    },
  };
}
