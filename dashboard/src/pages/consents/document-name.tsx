import type { PublicRecord } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useShownVersion } from './use-shown-version.js';

interface DocumentNameProps {
  readonly siteId: string;
  readonly record: PublicRecord;
  readonly slug: string | null;
}

/** The text of a record with its version; its short name until that is known. */
export function DocumentName({ siteId, record, slug }: DocumentNameProps) {
  const { consents } = useMessages();
  const { number, languageName } = useFormats();
  const { data: version } = useShownVersion(siteId, slug, record.document_version_id);
  if (version === undefined) return slug ?? '';
  return `${version.title}: ${consents.documentVersion(number(version.number ?? 0), languageName(version.language))}`;
}
