import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft, ConfigurationVersion } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { usePages } from '../../ui/use-pages.js';
import { Difference } from './difference.js';
import { usePublished } from './published.js';

interface PublishedVersionsProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  readonly onPublished: (number: number) => void;
}

/** The versions that were published. Each can be published again, after its difference to that in force was shown. */
export function PublishedVersions({ siteId, draft, onPublished }: PublishedVersionsProps) {
  const { banner, common } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const [chosen, setChosen] = useState<number | null>(null);
  const query = usePages<ConfigurationVersion>(['configuration versions', siteId], (cursor) =>
    api.GET('/api/v1/sites/{site_id}/configuration/versions', {
      params: { path: { site_id: siteId }, query: { ...(cursor !== undefined && { cursor }) } },
    }),
  );
  const publish = useAction((version: number) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/configuration/publish', {
        params: { path: { site_id: siteId } },
        body: { revision: draft.revision, version },
      }),
    ),
  );
  const inForce = usePublished(siteId, draft.in_force?.number);
  const wanted = usePublished(siteId, chosen ?? undefined);
  const items = query.data ?? [];
  if (items.length === 0) return null;
  return (
    <Section title={banner.versions} lead={banner.versionsLead}>
      <Table
        label={banner.versions}
        items={items}
        keyOf={(version) => String(version.number)}
        columns={[
          { label: banner.version, cell: (version) => number(version.number) },
          { label: banner.publishedAt, cell: ({ published_at }) => <Time at={published_at} /> },
          {
            label: common.state,
            phone: 'top',
            cell: ({ is_in_force }) => (is_in_force ? <Badge kind="good">{banner.isInForce}</Badge> : null),
          },
          ...(mayChange
            ? [
                {
                  label: common.actions,
                  cell: ({ number: version, is_in_force }: ConfigurationVersion) =>
                    is_in_force ? null : (
                      <Button onPress={() => setChosen(version)}>{banner.publishAgain(number(version))}</Button>
                    ),
                },
              ]
            : []),
        ]}
      />
      <More query={query} />
      <ConfirmDialog
        label={banner.publishAgain(number(chosen ?? 0))}
        isDanger={false}
        isWaiting={!inForce.isSuccess || !wanted.data}
        isOpen={chosen !== null}
        onClose={() => setChosen(null)}
        action={async () => {
          if (chosen !== null) onPublished((await publish(chosen)).number);
        }}
      >
        <p>{draft.has_changes ? banner.againKeepsDraft : banner.againText}</p>
        <Loaded query={inForce}>
          {(before) => (
            <Loaded query={wanted}>
              {(after) =>
                after === null ? (
                  <p>{banner.unknownForm}</p>
                ) : (
                  <div className="boxed-difference">
                    <Difference
                      before={before}
                      after={{ ...after, ...(before?.domain && { domain: before.domain }) }}
                    />
                  </div>
                )
              }
            </Loaded>
          )}
        </Loaded>
      </ConfirmDialog>
    </Section>
  );
}
