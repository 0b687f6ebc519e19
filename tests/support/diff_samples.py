"""Samples of unified diffs."""

TWO_FILES = """\
--- a/one
+++ b/one
@@ -1,3 +1,3 @@ def f
 context
-old
+new
 end
@@ -10 +10,2 @@
--- a comment
+++ plus
+more
\\ No newline at end of file
--- a/two
+++ b/two
@@ -1 +0,0 @@
-gone
"""
