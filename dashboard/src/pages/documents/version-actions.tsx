import { answerOf, dataOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { Confirm } from '../../ui/confirm.js';
import { RowMenu } from '../../ui/row-menu.js';
import { useAction } from '../../ui/use-action.js';
import { draftOf, EditedDraft } from './draft-form.js';
import { isText } from './read-version.js';

interface VersionActionsProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
  /** Whether visitors consented in the banner to the version that this one replaces. */
  readonly asksAgain: boolean;
}

/** Actions that the state of a version permits: the next one as a button, the others in a menu. */
export function VersionActions({ siteId, version, asksAgain }: VersionActionsProps) {
  const { documents } = useMessages();
  const api = useApi();
  const params = { path: { site_id: siteId, document_id: version.document_id, version_id: version.id } };
  const base = '/api/v1/sites/{site_id}/documents/{document_id}/versions/{version_id}';
  const change = useAction((values: Values) => dataOf(api.PATCH(base, { params, body: draftOf(values) })));
  const publish = useAction(() =>
    // Publishes only the draft that was shown.
    answerOf(api.POST(`${base}/publish`, { params, body: { content_sha256: version.content_sha256 } })),
  );
  const activate = useAction(() => answerOf(api.POST(`${base}/activate`, { params })));
  const retire = useAction(() => answerOf(api.POST(`${base}/retire`, { params })));
  const remove = useAction(() => answerOf(api.DELETE(base, { params })));
  const about = version.title;
  if (version.state === 'draft') {
    return (
      <>
        <Confirm label={documents.publish} about={about} isDanger={false} action={() => publish(undefined)}>
          <p>{documents.publishText}</p>
        </Confirm>
        <RowMenu
          about={about}
          actions={[
            ...(isText(version)
              ? [
                  {
                    label: documents.editVersion,
                    staysOpen: true,
                    content: <EditedDraft siteId={siteId} version={version} />,
                    action: change,
                  },
                ]
              : []),
            {
              label: documents.remove,
              isDanger: true,
              content: <p>{documents.removeText}</p>,
              action: () => remove(undefined),
            },
          ]}
        />
      </>
    );
  }
  return (
    <>
      {version.state === 'published' ? (
        <Confirm label={documents.activate} about={about} isDanger={false} action={() => activate(undefined)}>
          <p>{documents.activateText}</p>
          {asksAgain ? <p>{documents.asksAgain}</p> : null}
        </Confirm>
      ) : null}
      {version.state === 'retired' ? null : (
        <RowMenu
          about={about}
          actions={[
            {
              label: documents.retire,
              isDanger: true,
              content: <p>{documents.retireText}</p>,
              action: () => retire(undefined),
            },
          ]}
        />
      )}
    </>
  );
}
