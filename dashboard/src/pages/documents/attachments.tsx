import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { allPages, answerOf, dataOf } from '../../api/client.js';
import type { DocumentAttachment, Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';

interface PlaceProps {
  /** Home site of the document. */
  readonly siteId: string;
  readonly documentId: string;
}

/** The other sites that use a document, shown at its home site. */
export function Attachments({ siteId, documentId }: PlaceProps) {
  const { documents, common } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const sites = useSites();
  const query = useQuery({
    queryKey: ['document', siteId, documentId, 'attachments'],
    queryFn: () =>
      allPages((cursor) =>
        answerOf(
          api.GET('/api/v1/sites/{site_id}/documents/{document_id}/attachments', {
            params: { path: { site_id: siteId, document_id: documentId }, query: { limit: 100, cursor } },
          }),
        ),
      ),
  });
  const attachedTo = new Set(query.data?.map(({ site_id }) => site_id));
  const free = (sites.data ?? []).filter(({ id }) => id !== siteId && !attachedTo.has(id));
  const canAttach = mayChange && query.data !== undefined && free.length > 0;
  return (
    <Section
      title={documents.attachments}
      lead={documents.attachmentsLead}
      actions={canAttach ? <Attach siteId={siteId} documentId={documentId} sites={free} /> : null}
    >
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{documents.notAttached}</p>
          ) : (
            <Table
              label={documents.attachments}
              items={items}
              keyOf={({ site_id }) => site_id}
              columns={[
                {
                  label: documents.site,
                  cell: ({ site_id, site_name, domain }) => (
                    <Link to="/sites/$siteId/documents/$documentId" params={{ siteId: site_id, documentId }}>
                      {site_name} ({domain})
                    </Link>
                  ),
                },
                {
                  label: documents.attachedSince,
                  phone: 'labelled',
                  cell: ({ attached_at }) => <Time at={attached_at} />,
                },
                ...(mayChange
                  ? [
                      {
                        label: common.actions,
                        cell: (item: DocumentAttachment) => (
                          <Detach siteId={siteId} documentId={documentId} attachment={item} />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

const ATTACHMENT = '/api/v1/sites/{site_id}/documents/{document_id}/attachments/{attached_site_id}';

function Attach({ siteId, documentId, sites }: PlaceProps & { readonly sites: readonly Site[] }) {
  const { documents } = useMessages();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const attach = useAction((values: Values) => {
    const path = { site_id: siteId, document_id: documentId, attached_site_id: values.text('site') };
    return dataOf(api.PUT(ATTACHMENT, { params: { path } }));
  });
  return (
    <>
      <Button onPress={() => setOpen(true)}>{documents.attach}</Button>
      <Dialog title={documents.attach} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={documents.attach}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            await attach(values);
            setOpen(false);
          }}
        >
          <p>{documents.attachText}</p>
          <SelectInput
            name="site"
            label={documents.site}
            options={sites.map(({ id, name, domain }) => ({ value: id, label: `${name} (${domain})` }))}
          />
        </ActionForm>
      </Dialog>
    </>
  );
}

function Detach({ siteId, documentId, attachment }: PlaceProps & { readonly attachment: DocumentAttachment }) {
  const { documents } = useMessages();
  const api = useApi();
  const detach = useAction(() => {
    const path = { site_id: siteId, document_id: documentId, attached_site_id: attachment.site_id };
    return answerOf(api.DELETE(ATTACHMENT, { params: { path } }));
  });
  return (
    <Confirm label={documents.detach} about={attachment.domain} look="danger" action={() => detach(undefined)}>
      <p>{documents.detachText}</p>
    </Confirm>
  );
}

interface HomeProps {
  readonly homeSiteId: string;
  readonly documentId: string;
}

/** Link to the site where an attached document is changed, for the sites that it is attached to. */
export function HomeSite({ homeSiteId, documentId }: HomeProps) {
  const { documents } = useMessages();
  const home = useSites().data?.find(({ id }) => id === homeSiteId);
  return (
    <Notice kind="info">
      <p>
        {documents.fromOtherSite}{' '}
        <Link to="/sites/$siteId/documents/$documentId" params={{ siteId: homeSiteId, documentId }}>
          {home === undefined ? documents.homeSite : `${home.name} (${home.domain})`}
        </Link>
      </p>
    </Notice>
  );
}
