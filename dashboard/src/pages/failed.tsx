import { useMessages } from '../i18n/locale.js';
import { Button } from '../ui/button.js';
import { Page } from '../ui/page.js';

/** Stands in place of a page whose file is gone, as after a deployment, or that failed. */
export function Failed() {
  const { common } = useMessages();
  return (
    <Page title={common.failedTitle} lead={common.loadAgain}>
      <p>
        <Button look="primary" onPress={() => location.reload()}>
          {common.reload}
        </Button>
      </p>
    </Page>
  );
}
