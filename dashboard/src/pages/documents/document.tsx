import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { allPages, answerOf, dataOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { LoadedPage } from '../../ui/loaded-page.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useSiteId } from '../sites/use-site.js';
import { Attachments, HomeSite } from './attachments.js';
import { WriteDraft } from './draft-form.js';
import { namedVersionOf } from './named-version.js';
import { VersionActions } from './version-actions.js';
import { VersionContent } from './version-content.js';
import { VersionDifference } from './version-difference.js';

const LOOKS = { draft: 'warning', published: 'neutral', active: 'good', retired: 'neutral' } as const;

/** A document with its versions; one of them is shown. */
export function DocumentPage() {
  const { documents } = useMessages();
  const api = useApi();
  const siteId = useSiteId();
  const { documentId = '' } = useParams({ strict: false });
  const path = { site_id: siteId, document_id: documentId };
  const query = useQuery({
    queryKey: ['document', siteId, documentId],
    queryFn: async () => {
      const [document, versions] = await Promise.all([
        dataOf(api.GET('/api/v1/sites/{site_id}/documents/{document_id}', { params: { path } })),
        allPages((cursor) =>
          answerOf(
            api.GET('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
              params: { path, query: { limit: 100, cursor } },
            }),
          ),
        ),
      ]);
      return { document, versions };
    },
  });
  return (
    <LoadedPage
      query={query}
      back={
        <Link to="/sites/$siteId/documents" params={{ siteId }}>
          {documents.title}
        </Link>
      }
    >
      {({ document, versions }) => (
        <Page title={document.slug} lead={documents.kinds[document.kind]}>
          {document.home_site_id === siteId ? null : (
            <HomeSite homeSiteId={document.home_site_id} documentId={documentId} />
          )}
          <Versions
            siteId={siteId}
            documentId={documentId}
            isHome={document.home_site_id === siteId}
            kind={document.kind}
            versions={versions}
          />
          {document.home_site_id === siteId ? <Attachments siteId={siteId} documentId={documentId} /> : null}
        </Page>
      )}
    </LoadedPage>
  );
}

interface VersionsProps {
  readonly siteId: string;
  readonly documentId: string;
  /** Whether the document belongs to the site. Elsewhere its versions are only shown. */
  readonly isHome: boolean;
  readonly kind: string;
  readonly versions: readonly DocumentVersion[];
}

function Versions({ siteId, documentId, isHome, kind, versions }: VersionsProps) {
  const { documents, common } = useMessages();
  const { number, languageName } = useFormats();
  const mayChange = useMay('changeSites') && isHome;
  const { version: named } = namedVersionOf(useSearch({ strict: false }));
  const [chosen, setChosen] = useState(named);
  const shown =
    versions.find(({ id }) => id === chosen) ?? versions.find(({ state }) => state === 'active') ?? versions.at(-1);
  const write = mayChange ? (
    <WriteDraft siteId={siteId} documentId={documentId} versions={versions} onWritten={setChosen} />
  ) : null;
  const numberInForce = (language: string) =>
    versions.find((one) => one.language === language && one.state === 'active')?.number ?? null;
  return (
    <>
      <Section title={documents.versions} actions={versions.length === 0 ? null : write}>
        {versions.length === 0 ? (
          <Empty title={documents.noVersion}>
            {mayChange ? <p>{documents.noVersionText}</p> : null}
            {write}
          </Empty>
        ) : (
          <Table
            label={documents.versions}
            items={versions}
            keyOf={({ id }) => id}
            columns={[
              {
                label: documents.number,
                cell: (version) =>
                  [languageName(version.language), ...(version.number === null ? [] : [number(version.number)])].join(
                    ', ',
                  ),
              },
              { label: documents.versionTitle, cell: ({ title }) => title },
              {
                label: common.state,
                phone: 'top',
                cell: ({ state, language }) => (
                  <span className="stack-tight">
                    <Badge kind={LOOKS[state]}>{documents.states[state]}</Badge>
                    {state === 'published' ? (
                      <span className="hint">{documents.notInForce(numberInForce(language))}</span>
                    ) : null}
                  </span>
                ),
              },
              {
                label: documents.publishedAt,
                phone: 'labelled',
                cell: ({ published_at }) => (published_at === null ? '' : <Time at={published_at} isDay />),
              },
              {
                label: common.actions,
                cell: (version) => (
                  <div className="actions">
                    <Button
                      aria-label={`${documents.open}: ${version.title}`}
                      aria-pressed={version.id === shown?.id}
                      onPress={() => setChosen(version.id)}
                    >
                      {documents.open}
                    </Button>
                    {mayChange ? (
                      <VersionActions
                        siteId={siteId}
                        version={version}
                        asksAgain={kind === 'cookie_policy' && numberInForce(version.language) !== null}
                      />
                    ) : null}
                  </div>
                ),
              },
            ]}
          />
        )}
      </Section>
      {shown === undefined ? null : (
        <ShownVersion
          key={shown.id}
          siteId={siteId}
          version={shown}
          versions={versions}
          isCompared={shown.id === named}
        />
      )}
    </>
  );
}

interface ShownVersionProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
  readonly versions: readonly DocumentVersion[];
  /** Whether the difference to the version before is open from the beginning. */
  readonly isCompared: boolean;
}

function ShownVersion({ siteId, version, versions, isCompared }: ShownVersionProps) {
  const { documents } = useMessages();
  const { languageName } = useFormats();
  const number = version.number ?? Number.POSITIVE_INFINITY;
  const before = versions
    .filter((one) => one.language === version.language && one.number !== null && one.number < number)
    .sort((a, b) => (b.number ?? 0) - (a.number ?? 0))[0];
  return (
    <Section
      title={documents.versionShown(languageName(version.language), version.number, documents.states[version.state])}
    >
      <VersionContent siteId={siteId} version={version} />
      {before === undefined ? null : (
        <VersionDifference siteId={siteId} before={before} after={version} isOpen={isCompared} />
      )}
    </Section>
  );
}
