import type { PublicRecord } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { ScrollBox } from '../../ui/scroll-box.js';
import { Facts } from '../../ui/table.js';
import { VersionContent } from '../documents/version-content.js';
import { ruleInForce } from './rule-in-force.js';
import { useShownConfiguration } from './use-shown-configuration.js';
import { useShownVersion } from './use-shown-version.js';

interface ShownSectionProps {
  readonly siteId: string;
  readonly record: PublicRecord;
  readonly slug: string | null;
}

/**
 * The text and the banner that were published when the record was made, found by the hashes in it. Only the
 * caller knows what the person saw: a backend need not show the banner.
 */
export function ShownSection({ siteId, record, slug }: ShownSectionProps) {
  const { consents } = useMessages();
  return (
    <Section title={consents.shown[record.channel]}>
      <div className="columns">
        {slug === null ? null : <ShownDocument siteId={siteId} slug={slug} versionId={record.document_version_id} />}
        <ShownBanner siteId={siteId} record={record} />
      </div>
    </Section>
  );
}

interface ShownDocumentProps {
  readonly siteId: string;
  readonly slug: string;
  readonly versionId: string;
}

function ShownDocument({ siteId, slug, versionId }: ShownDocumentProps) {
  const { consents } = useMessages();
  const { number, languageName } = useFormats();
  const query = useShownVersion(siteId, slug, versionId);
  return (
    <div className="stack">
      <h3>{consents.document}</h3>
      <Loaded query={query}>
        {(version) => (
          <>
            <p>
              <strong>{version.title}</strong>
              <br />
              <span className="hint">
                {consents.documentVersion(number(version.number ?? 0), languageName(version.language))}
              </span>
            </p>
            <VersionContent siteId={siteId} version={version} />
          </>
        )}
      </Loaded>
    </div>
  );
}

interface ShownBannerProps {
  readonly siteId: string;
  readonly record: PublicRecord;
}

function ShownBanner({ siteId, record }: ShownBannerProps) {
  const { consents, banner } = useMessages();
  const { list } = useFormats();
  const { site_config_hash: hash, language } = record;
  const query = useShownConfiguration(siteId, hash);
  const decided = ruleInForce(record, query.data)?.rule?.categories;
  /** What the first layer said of a category that is exempt from consent. */
  const groundOf = (key: string) => {
    const one = decided?.[key];
    return one?.rule === 'exempt' ? one.ground[language] : undefined;
  };
  return (
    <div className="stack">
      <h3>{consents.bannerTexts}</h3>
      <Loaded query={query}>
        {(shown) =>
          shown === null ? (
            <p>{consents.configMissing}</p>
          ) : (
            <ScrollBox look="stack" label={consents.bannerTexts} language={language}>
              {Object.entries(shown.banner[language] ?? {}).map(([name, text]) => (
                <p key={name} className="plain-text" dir="auto">
                  <span className="hint">{banner.names[name] ?? name}</span>
                  <br />
                  {text}
                </p>
              ))}
              {shown.withdrawal[language] === undefined ? null : (
                <p className="plain-text" dir="auto">
                  <span className="hint">{consents.withdrawal}</span>
                  <br />
                  {shown.withdrawal[language]}
                </p>
              )}
              <Facts
                items={shown.categories.map(({ key, title, purpose, recipients }) => [
                  title[language] ?? key,
                  <span key={key}>
                    {purpose[language]} {groundOf(key)}
                    {recipients.length === 0 ? null : (
                      <>
                        {' '}
                        ({consents.recipients}: {list(recipients)})
                      </>
                    )}
                  </span>,
                ])}
              />
            </ScrollBox>
          )
        }
      </Loaded>
    </div>
  );
}
