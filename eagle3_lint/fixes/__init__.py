"""What cures a finding: edits of plain text, computed from positions and the file's own text.

Everything that no edit covers stays as it is, byte for byte. Whether an edited file is still Python is for the engine to
check, which applies the edits.
"""
