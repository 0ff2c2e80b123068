import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Document } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, SelectInput, TextInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { usePages } from '../../ui/use-pages.js';
import { useSiteId } from '../sites/use-site.js';
import { KvkkPreset } from './kvkk-preset.js';

const KINDS = ['cookie_policy', 'privacy_notice', 'terms', 'consent_form', 'do_not_sell', 'other'] as const;

/** The documents of a site. */
export function Documents() {
  const { documents } = useMessages();
  const api = useApi();
  const siteId = useSiteId();
  const mayChange = useMay('changeSites');
  const query = usePages(['documents', siteId], (cursor) =>
    api.GET('/api/v1/sites/{site_id}/documents', {
      params: { path: { site_id: siteId }, query: { limit: 50, cursor } },
    }),
  );
  const add = mayChange ? (
    <span className="actions">
      <AddDocument siteId={siteId} />
      <KvkkPreset siteId={siteId} />
    </span>
  ) : null;
  return (
    <Page title={documents.title} lead={documents.lead}>
      <Section title={documents.list} actions={(query.data?.length ?? 0) === 0 ? null : add}>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <Empty title={documents.emptyTitle}>
                <p>{mayChange ? documents.emptyText : documents.emptyReader}</p>
                {add}
              </Empty>
            ) : (
              <Table
                label={documents.list}
                items={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: documents.slug,
                    cell: ({ id, slug, home_site_id }) => (
                      <span className="actions">
                        <Link to="/sites/$siteId/documents/$documentId" params={{ siteId, documentId: id }}>
                          {slug}
                        </Link>
                        {home_site_id === siteId ? null : <Badge kind="neutral">{documents.attached}</Badge>}
                      </span>
                    ),
                  },
                  { label: documents.kind, cell: ({ kind }) => documents.kinds[kind] },
                  { label: documents.active, phone: 'top', cell: (item) => <ActiveVersions item={item} /> },
                ]}
              />
            )
          }
        </Loaded>
        <More query={query} />
      </Section>
    </Page>
  );
}

function ActiveVersions({ item }: { readonly item: Document }) {
  const { documents } = useMessages();
  const { number, languageName } = useFormats();
  if (item.active_versions.length === 0) return <Badge kind="warning">{documents.noneActive}</Badge>;
  return (
    <span className="actions">
      {item.active_versions.map((version) => (
        <Badge key={version.id} kind="good">
          {languageName(version.language)} {number(version.number)}
        </Badge>
      ))}
    </span>
  );
}

function AddDocument({ siteId }: { readonly siteId: string }) {
  const { documents } = useMessages();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const create = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/documents', {
        params: { path: { site_id: siteId } },
        body: {
          slug: values.text('slug').trim(),
          kind: KINDS.find((kind) => kind === values.text('kind')) ?? 'other',
          requires_approval_token: values.isTicked('requires_approval_token'),
        },
      }),
    ),
  );
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {documents.add}
      </Button>
      <Dialog title={documents.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={documents.add}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            await create(values);
            setOpen(false);
          }}
        >
          <SelectInput
            name="kind"
            label={documents.kind}
            options={KINDS.map((value) => ({ value, label: documents.kinds[value] }))}
          />
          <TextInput name="slug" label={documents.slug} hint={documents.slugHint} isRequired isCode />
          <Checkbox name="requires_approval_token">{documents.approvalToken}</Checkbox>
        </ActionForm>
      </Dialog>
    </>
  );
}
