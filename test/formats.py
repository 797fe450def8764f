"""Formats of tests that lit does not have."""
import copy
import tempfile

import lit.formats


class OwnFolderTest(lit.formats.ShTest):
    """A shell test with a temporary folder of its own: Open MPI keeps one session folder for all that share a temporary one, and of
    tests that run side by side one removes what another is about to use."""

    def execute(self, test, lit_config):
        with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as folder:
            test.config = copy.copy(test.config)
            test.config.environment = dict(test.config.environment, **{name: folder for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR")})
            return super().execute(test, lit_config)
